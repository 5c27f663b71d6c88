from django.urls import include, path
from rest_framework.routers import SimpleRouter

from feedback.views import CommentViewSet, PostViewSet

router = SimpleRouter()
router.register("posts", PostViewSet, basename="post")
router.register("comments", CommentViewSet)

urlpatterns = [path("api/v1/", include(router.urls))]
